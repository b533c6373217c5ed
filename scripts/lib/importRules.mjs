// Reads the import rules, a table and the list of pure folders, from the text of a src/README.md. This file does not
// access the disk, so that a test can pass a text of three lines.

/**
 * @typedef {object} ImportRules
 * @property {Map<string, Set<string>>} mayImport folder → the other folders that it may import
 * @property {Set<string>} pure folders without `node:` and without the DOM
 * @property {string[]} problems problems of the table, one sentence each
 */

/**
 * @param {string} readme text of src/README.md
 * @returns {ImportRules}
 */
export function readImportRules(readme) {
  const mayImport = new Map();
  const problems = [];
  for (const line of readme.split('\n')) {
    const row = /^\|\s*`([\w-]+)\/`\s*\|.*\|([^|]*)\|\s*$/.exec(line);
    if (row === null) continue;
    const [, folder, allowed] = row;
    if (mayImport.has(folder)) problems.push(`the table names ${folder}/ twice`);
    mayImport.set(folder, new Set(folderList(allowed)));
  }
  if (mayImport.size === 0) problems.push('the table of folders was not found');

  const sentence = /^`([\w\s-]+)` are [*_]pure[*_]/m.exec(readme);
  const pure = new Set(sentence === null ? [] : folderList(sentence[1]));
  if (sentence === null) problems.push('the line "`…` are *pure*" was not found');

  for (const [folder, allowed] of mayImport) {
    for (const name of allowed) {
      if (!mayImport.has(name)) problems.push(`${folder}/ may import ${name}, which is not in the table`);
    }
  }
  for (const name of pure) {
    if (!mayImport.has(name)) problems.push(`${name} is called pure, and is not in the table`);
  }
  return { mayImport, pure, problems };
}

/** Splits `"base, api"`, `"base api"` or `"nothing"` into names. */
function folderList(text) {
  return text.split(/[\s,`/]+/).filter((name) => name !== '' && name !== 'nothing');
}
