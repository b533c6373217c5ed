// Reads files that the user dropped on the page or chose: a trace directory, a report, an event file of DASF, a Chrome
// trace. The browser sends the files nowhere.
import { LongpoleError } from '../../base/errors.js';
import { countText } from '../../base/words.js';
import { memorySource } from '../../trace/formats/arrow/arrowMessages.js';
import { unpackLz4Frame } from '../../trace/formats/arrow/lz4Frame.js';
import { ChromeReader } from '../../trace/formats/chrome/chromeReader.js';
import { looksLikeChrome } from '../../trace/formats/chrome/chromeText.js';
import { DasfReader } from '../../trace/formats/dasf/dasfReader.js';
import { looksLikeDasf } from '../../trace/formats/dasf/dasfRecords.js';
import { CHECKED_BYTES, openTables } from '../../trace/recording/openTables.js';
import { decodeReport, REPORT_ELEMENT } from '../../trace/recording/reportBytes.js';
import { META_FILE, parseMeta } from '../../trace/recording/traceMeta.js';
import { TraceBuilder } from '../../trace/traceBuilder.js';
import { unpack, unpackPageData } from './inflate.js';
import { type TraceSource, type TraceUpdate, wholeSource } from './traceSource.js';

/** Decompresses LZ4. The browser compresses nothing. */
export const READ_CODEC = { compress: (bytes: Uint8Array) => bytes, decompress: unpackLz4Frame };

/** Returns the trace in files as a source. `folder` is the name of the files' folder if the files do not have it. */
export function fileSource(files: readonly File[], folder = ''): TraceSource {
  return wholeSource(() => readFiles(files, folder));
}

async function readFiles(files: readonly File[], folder: string): Promise<TraceUpdate> {
  const meta = files.find(({ name }) => name === META_FILE);
  if (meta !== undefined) return await openDirectory(meta, files, folder);
  const [file] = files;
  if (file === undefined || files.length > 1) {
    throw new LongpoleError(
      'ERR_LONGPOLE_TRACE_FORMAT',
      `The selection has ${files.length} files, none of which is ${META_FILE}. Select one file, or a trace directory, which contains ${META_FILE}.`,
    );
  }
  return await openFile(file);
}

async function openDirectory(metaFile: File, files: readonly File[], name: string): Promise<TraceUpdate> {
  const meta = parseMeta(META_FILE, await metaFile.text());
  const tables = new Map<string, Uint8Array>();
  for (const file of files) tables.set(file.name, new Uint8Array(await file.arrayBuffer()));
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const trace = openTables(
    meta,
    (table) => {
      const name = `${table}.arrows`;
      const bytes = tables.get(name);
      return { name, bytes: bytes === undefined ? undefined : memorySource(bytes) };
    },
    { codec: READ_CODEC, checked: size <= CHECKED_BYTES },
  );
  const [folder = ''] = metaFile.webkitRelativePath.split('/');
  const facts = {
    Recorder: meta.tool,
    Platform: meta.platform,
    Host: `${meta.host}, ${countText(meta.cores, 'core')}`,
  };
  return { trace, title: folder || name || 'Trace', facts, live: undefined };
}

async function openFile(file: File): Promise<TraceUpdate> {
  let bytes = new Uint8Array(await file.arrayBuffer());
  const text = (from: number, to: number): string =>
    new TextDecoder('latin1').decode(bytes.subarray(from, to));
  if (/^\s*<(!doctype )?html/i.test(text(0, 64))) {
    const page = text(0, bytes.length);
    const mark = page.indexOf(`<script id="${REPORT_ELEMENT}"`);
    const from = mark < 0 ? -1 : page.indexOf('>', mark) + 1;
    const data = from <= 0 ? '' : page.slice(from, page.indexOf('<', from)).trim();
    if (data === '') throw notATrace(file);
    const { trace, title, facts } = decodeReport(await unpackPageData(data));
    return { trace, title, facts, live: undefined };
  }
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) bytes = await unpack(file.name, bytes, 'gzip');
  const builder = new TraceBuilder();
  const head = bytes.subarray(0, 256);
  if (looksLikeDasf(head)) new DasfReader(builder).feed(bytes, bytes.length, true);
  else if (looksLikeChrome(head)) {
    const reader = new ChromeReader(builder);
    reader.feed(bytes, bytes.length, true);
    if (reader.problem !== undefined) throw notATrace(file);
  } else throw notATrace(file);
  return { trace: builder.build(), title: file.name, facts: {}, live: undefined };
}

function notATrace({ name }: File): LongpoleError {
  return new LongpoleError(
    'ERR_LONGPOLE_TRACE_FORMAT',
    `${name} is not a trace of a known format. It should be a trace directory, a performance report, an event file of DASF, or Chrome Trace JSON.`,
  );
}

declare global {
  interface DataTransferItem {
    /** Available in Chromium. */
    getAsFileSystemHandle?(): Promise<FileSystemHandle | null>;
  }
}

export interface DroppedFiles {
  readonly files: readonly File[];
  /** Name of the only dropped folder; empty if there are none or several. */
  readonly folder: string;
}

/**
 * Returns all dropped files, including those in folders. Must be called during the event, which invalidates the items.
 */
export async function droppedFiles(items: DataTransferItemList): Promise<DroppedFiles> {
  const dropped = Array.from(items, (item) => ({
    file: item.getAsFile(),
    entry: item.webkitGetAsEntry(),
    handle: item.getAsFileSystemHandle?.(),
  }));
  const folders: string[] = [];
  const lists = await Promise.all(
    dropped.map(async ({ file, entry, handle }) => {
      if (entry === null || !isDirectory(entry)) return file === null ? [] : [file];
      folders.push(entry.name);
      // On a page that was opened from disk, Chromium reads a folder only through its handle.
      const folder = await handle?.catch(() => null);
      return folder === undefined || folder === null ? await filesOf(entry) : await filesOfHandle(folder);
    }),
  );
  return { files: lists.flat(), folder: folders.length === 1 ? (folders[0] ?? '') : '' };
}

async function filesOfHandle(handle: FileSystemHandle): Promise<File[]> {
  if (isFileHandle(handle)) return [await handle.getFile()];
  if (!isFolderHandle(handle)) return [];
  const files: File[] = [];
  for await (const one of handle.values()) if (isFileHandle(one)) files.push(await one.getFile());
  return files;
}

function isFileHandle(handle: FileSystemHandle): handle is FileSystemFileHandle {
  return handle.kind === 'file';
}

function isFolderHandle(handle: FileSystemHandle): handle is FileSystemDirectoryHandle {
  return handle.kind === 'directory';
}

async function filesOf(entry: FileSystemDirectoryEntry): Promise<File[]> {
  const reader = entry.createReader();
  const files: File[] = [];
  // A reader returns about 100 entries per call, and an empty list at the end.
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) =>
      reader.readEntries(resolve, reject),
    );
    if (some.length === 0) return files;
    for (const one of some.filter(isFile))
      files.push(await new Promise<File>((resolve, reject) => one.file(resolve, reject)));
  }
}

function isFile(entry: FileSystemEntry): entry is FileSystemFileEntry {
  return entry.isFile;
}

function isDirectory(entry: FileSystemEntry): entry is FileSystemDirectoryEntry {
  return entry.isDirectory;
}
