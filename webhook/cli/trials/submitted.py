"""The objects in files that tests submit, read from beside the policy."""

from __future__ import annotations

from pathlib import Path

from webhook.language.scenes import Scene
from webhook.model.kinds import Object
from webhook.rehearsal.manifests import BadManifests, read_manifests
from webhook.rehearsal.trials import BadFile


def read_submitted(scene: Scene) -> Object:
    """The one object in the file of a submission, whose path is relative to the policy file. Raises BadFile."""
    folder = Path(scene.place.rpartition(":")[0]).parent
    path = folder / (scene.submission.file or "")
    try:
        manifests = read_manifests(str(path), path.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadFile(f"{path}: {(error.strerror or str(error)).lower()}") from error
    except UnicodeDecodeError as error:
        raise BadFile(f"{path} is not UTF-8") from error
    except BadManifests as error:
        raise BadFile(error.flaws[0].text) from error
    if len(manifests) != 1:
        raise BadFile(f"{path} has {len(manifests)} objects, a test submits one")
    return manifests[0].object
