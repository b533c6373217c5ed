// Reads the trace in a performance report: recognises the page, extracts the data and unpacks it.

import { kMaxLength } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { inflateSync } from 'node:zlib';
import { LongpoleError } from '../base/errors.js';
import { unpackedSizeError, unpackLimit } from '../base/unpackLimit.js';
import { decodeReport, REPORT_ELEMENT } from '../trace/recording/reportBytes.js';
import type { Trace } from '../trace/trace.js';
import { fileError, HEAD, headOf } from './readFile.js';

/** Returns whether bytes begin like a page. */
export function looksLikeHtml(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, HEAD)).trimStart().toLowerCase();
  return text.startsWith('<!doctype html') || text.startsWith('<html');
}

/** Returns whether a file is a page. False if it cannot be read, because opening it will throw the reason. */
export function isHtmlFile(file: string): boolean {
  return looksLikeHtml(headOf(file));
}

/** Opens a report file. Throws ERR_LONGPOLE_TRACE_FILE if the file cannot be read, and the errors of `openReport`. */
export function openReportFile(file: string, maxUnpackedBytes?: number): Trace {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    throw fileError(file, error);
  }
  return openReport(file, bytes, maxUnpackedBytes);
}

/**
 * Returns the trace in a page. Throws ERR_LONGPOLE_TRACE_FORMAT if the page is no report or damaged,
 * ERR_LONGPOLE_TRACE_VERSION if a newer Longpole wrote it, ERR_LONGPOLE_UNPACKED_SIZE if its data unpacks to more
 * than `maxUnpackedBytes`.
 */
export function openReport(name: string, page: Uint8Array, maxUnpackedBytes?: number): Trace {
  const bytes = Buffer.from(page.buffer, page.byteOffset, page.byteLength);
  const mark = bytes.indexOf(`<script id="${REPORT_ELEMENT}"`);
  const from = mark < 0 ? -1 : bytes.indexOf('>', mark) + 1;
  const to = from <= 0 ? -1 : bytes.indexOf('<', from);
  if (to < 0) notAReport(name, 'it is a page, but no report of Longpole');
  const text = bytes.toString('latin1', from, to).trim();
  if (text === '') notAReport(name, 'it is a dashboard without a trace');
  const packed = Buffer.from(text, 'base64');
  const limit = maxUnpackedBytes ?? unpackLimit(packed.length);
  let data: Uint8Array;
  try {
    // Unpacks piece by piece, and stops beyond the limit.
    data = inflateSync(packed, { maxOutputLength: Math.max(1, Math.min(limit, kMaxLength)) });
  } catch (error) {
    if (isTooLarge(error)) throw unpackedSizeError(name, packed.length, limit);
    return notAReport(name, 'the data of the report is damaged: the file was cut off or changed');
  }
  return decodeReport(data).trace;
}

function isTooLarge(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
}

function notAReport(name: string, what: string): never {
  throw new LongpoleError(
    'ERR_LONGPOLE_TRACE_FORMAT',
    `${name} cannot be read as a trace: ${what}. Pass a complete report of Longpole.`,
  );
}
