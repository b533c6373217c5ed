import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import { FILE_TYPES } from '../../dist/protocol/schemaTypes.js';
import * as schema from '../../dist/protocol/traceSchema.js';
import { fileColumns } from '../../dist/protocol/traceSchema.js';
import { traceTables, withTables } from './traceTables.mjs';

it('docs/trace-format.md has every column of the schema; scripts/writeTraceTables.mjs writes it', () => {
  const text = readFileSync(new URL('../../docs/trace-format.md', import.meta.url), 'utf8');
  assert.equal(withTables(text, traceTables(schema, fileColumns, FILE_TYPES)), text);
});
