// Writes the tables of docs/trace-format.md from the schema of the trace. Run this script after a build when a column
// has changed.
import { readFileSync, writeFileSync } from 'node:fs';
import { FILE_TYPES } from '../dist/protocol/schemaTypes.js';
import * as schema from '../dist/protocol/traceSchema.js';
import { fileColumns } from '../dist/protocol/traceSchema.js';
import { traceTables, withTables } from './lib/traceTables.mjs';

const file = new URL('../docs/trace-format.md', import.meta.url);
writeFileSync(file, withTables(readFileSync(file, 'utf8'), traceTables(schema, fileColumns, FILE_TYPES)));
