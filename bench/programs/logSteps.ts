// The steps of the program on log files of a web server: they are read, grouped by user, merged, and joined with the
// users. Then the users with the most bytes are selected.
import { readFile } from 'node:fs/promises';

export interface Line {
  readonly user: string;
  readonly status: number;
  readonly bytes: number;
  readonly path: string;
}

export interface Group {
  requests: number;
  errors: number;
  bytes: number;
}

export type Groups = ReadonlyMap<string, Readonly<Group>>;

export interface Row extends Readonly<Group> {
  readonly user: string;
  readonly country: string;
}

const LINE = /^\S+ (\S+) \[[^\]]*\] "[A-Z]+ (\S+)" (\d+) (\d+)$/;

export async function parse(file: string): Promise<Line[]> {
  const lines: Line[] = [];
  for (const text of (await readFile(file, 'utf8')).split('\n')) {
    const [, user, path, status, bytes] = LINE.exec(text) ?? [];
    if (user !== undefined && path !== undefined)
      lines.push({ user, path, status: Number(status), bytes: Number(bytes) });
  }
  return lines;
}

export function group(lines: readonly Line[]): Groups {
  const groups = new Map<string, Group>();
  for (const { user, status, bytes } of lines) {
    let group = groups.get(user);
    if (group === undefined) {
      group = { requests: 0, errors: 0, bytes: 0 };
      groups.set(user, group);
    }
    group.requests++;
    group.bytes += bytes;
    if (status >= 500) group.errors++;
  }
  return groups;
}

export function merge(parts: readonly Groups[]): Groups {
  const all = new Map<string, Group>();
  for (const part of parts)
    for (const [user, { requests, errors, bytes }] of part) {
      const group = all.get(user);
      if (group === undefined) all.set(user, { requests, errors, bytes });
      else {
        group.requests += requests;
        group.errors += errors;
        group.bytes += bytes;
      }
    }
  return all;
}

export async function join(groups: Groups, usersFile: string): Promise<Row[]> {
  const rows: Row[] = [];
  for (const text of (await readFile(usersFile, 'utf8')).split('\n')) {
    const [user = '', country = ''] = text.split(',');
    const group = groups.get(user);
    if (group !== undefined) rows.push({ user, country, ...group });
  }
  return rows;
}

export function top(rows: readonly Row[], count: number): Row[] {
  return [...rows].sort((a, b) => b.bytes - a.bytes || (a.user < b.user ? -1 : 1)).slice(0, count);
}
