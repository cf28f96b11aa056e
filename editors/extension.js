// Starts `tidegate lsp` for VS Code. Everything it shows comes from there.
"use strict";

const { workspace } = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function activate() {
  const [command, ...args] = workspace.getConfiguration("tide").get("command");
  client = new LanguageClient(
    "tide",
    "Tide",
    { command, args },
    { documentSelector: [{ language: "tide" }] },
  );
  return client.start();
}

function deactivate() {
  return client?.stop();
}

module.exports = { activate, deactivate };
