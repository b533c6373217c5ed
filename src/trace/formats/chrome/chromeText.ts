// Splits Chrome Trace JSON into events: an array of events, or an object with an array `traceEvents`. Recorders that
// are killed omit the end. The text comes in chunks; only the current events are buffered. After damage, reading
// continues at the next event. JSON.parse makes the events of 64 KiB in one call, because a call for each takes longer.
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  INCOMPLETE,
  INVALID,
  JsonCursor,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../json/jsonCursor.js';

/** Bytes of events that are parsed in one call. */
const BATCH = 1 << 16;
/** Limit for the bytes of an event. Longer events are skipped, so that a lost quote does not buffer the whole file. */
const MAX_EVENT = 1 << 24;
/** Limit for the bytes of the first event after damage, which may not be a real event. */
const MAX_CANDIDATE = 1 << 16;
/** Limit for the names of top-level fields in error messages. */
const MAX_NAMES = 8;
const MAX_NAME = 40;

/** An event as its recorder wrote it. */
export interface ChromeEvent {
  readonly ph?: unknown;
  readonly name?: unknown;
  readonly cat?: unknown;
  readonly ts?: unknown;
  readonly dur?: unknown;
  readonly pid?: unknown;
  readonly tid?: unknown;
  readonly id?: unknown;
  readonly id2?: unknown;
  readonly args?: unknown;
  readonly bp?: unknown;
}

/** Names with which an event begins. */
const EVENT_FIELDS = new Set('ph name cat ts dur pid tid id args bp id2 s'.split(' '));

export interface ChromeEventSink {
  /** Receives an event. Returns false if it is no event of a trace. */
  event(event: ChromeEvent): boolean;
  /** Receives a skipped part: `size` bytes at `offset` of the text. */
  damage(offset: number, size: number, reason: string): void;
}

type State = 'start' | 'fields' | 'skip' | 'events' | 'lost' | 'end';

/** Splits chunks of text into events. */
export class ChromeText {
  readonly #cursor = new JsonCursor();
  readonly #skip = new TopLevelSkip();
  readonly #sink: ChromeEventSink;
  #state: State = 'start';
  /** Whether the array is the whole text, not a field of an object. */
  #bare = false;
  /** Offset of the chunk in the text. */
  #offset = 0;
  #lostFrom = 0;
  #reason = '';
  /** Whether the text has an array of events. */
  found = false;
  /** Whether nothing was skipped. */
  whole = true;
  /** The first few other fields of the object. */
  readonly otherFields: string[] = [];

  constructor(sink: ChromeEventSink) {
    this.#sink = sink;
  }

  /** See `ByteReader.feed`. */
  feed(bytes: Uint8Array, length: number, last: boolean): number {
    const cursor = this.#cursor;
    cursor.use(bytes, length);
    while (this.#step(last));
    const done = cursor.at;
    if (last) this.#finish(done);
    const consumed = last ? length : done;
    this.#offset += consumed;
    return consumed;
  }

  /** Reads some events or a field. Returns false if that needs more text. The cursor stays at the next byte to read. */
  #step(last: boolean): boolean {
    switch (this.#state) {
      case 'start':
        return this.#start();
      case 'fields':
        return this.#field();
      case 'skip':
        if (!this.#skip.skip(this.#cursor)) return false;
        this.#state = 'fields';
        return true;
      case 'events':
        return this.#events(last);
      case 'lost':
        return this.#resume(last);
      case 'end':
        return this.#cursor.peek() >= 0 && this.#lose('there is text after the end');
    }
  }

  #start(): boolean {
    const cursor = this.#cursor;
    if (cursor.bytes[cursor.at] === 0xef) {
      if (cursor.end - cursor.at < BYTE_ORDER_MARK) return false;
      cursor.at += BYTE_ORDER_MARK;
    }
    const first = cursor.peek();
    if (first < 0) return false;
    cursor.at++;
    this.#bare = first === OPEN_BRACKET;
    if (this.#bare) this.found = true;
    if (!this.#bare && first !== OPEN_BRACE)
      return this.#lose('it does not begin with an array or an object');
    this.#state = this.#bare ? 'events' : 'fields';
    return true;
  }

  /** Reads a field of the object around the events, or its end. */
  #field(): boolean {
    const cursor = this.#cursor;
    let first = cursor.peek();
    if (first === COMMA) {
      cursor.at++;
      first = cursor.peek();
    }
    if (first < 0) return false;
    if (first === CLOSE_BRACE) {
      cursor.at++;
      this.#state = 'end';
      return true;
    }
    const begin = cursor.at;
    if (!cursor.readString()) return this.#stop(begin);
    const name = cursor.text();
    if (!cursor.expect(COLON)) return this.#stop(begin);
    if (cursor.peek() < 0) {
      cursor.fail(INCOMPLETE);
      return this.#stop(begin);
    }
    if (name === 'traceEvents' && cursor.peek() === OPEN_BRACKET) {
      cursor.at++;
      this.found = true;
      this.#state = 'events';
      return true;
    }
    if (this.otherFields.length < MAX_NAMES) this.otherFields.push(name.slice(0, MAX_NAME));
    this.#skip.begin();
    this.#state = 'skip';
    return true;
  }

  #events(last: boolean): boolean {
    const cursor = this.#cursor;
    let first = cursor.peek();
    // Recorders that append events leave a trailing comma.
    while (first === COMMA) {
      cursor.at++;
      first = cursor.peek();
    }
    if (first < 0) return false;
    if (first === CLOSE_BRACKET) {
      cursor.at++;
      this.#state = this.#bare ? 'end' : 'fields';
      return true;
    }
    if (first !== OPEN_BRACE) return this.#lose('an event does not begin with a brace');
    const begin = cursor.at;
    const bounds = this.#eventBounds();
    if (bounds.length > 0) return this.#deliver(bounds);
    const isOpen = cursor.failure === INCOMPLETE;
    const waits = isOpen && !last && cursor.end - begin < MAX_EVENT;
    cursor.at = begin;
    if (waits) return false;
    return this.#lose(isOpen && last ? 'the last event is not complete' : 'an event is not valid JSON');
  }

  /** Returns the bounds of the complete objects at the cursor, which are separated by one comma each. */
  #eventBounds(): [begin: number, end: number][] {
    const cursor = this.#cursor;
    const limit = cursor.at + BATCH;
    const bounds: [number, number][] = [];
    while (cursor.at < limit && cursor.peek() === OPEN_BRACE) {
      const begin = cursor.at;
      if (!cursor.skipObject()) break;
      bounds.push([begin, cursor.at]);
      if (cursor.peek() !== COMMA) break;
      cursor.at++;
    }
    return bounds;
  }

  /** Passes on events, up to the first damaged one. */
  #deliver(bounds: readonly [begin: number, end: number][]): true {
    const cursor = this.#cursor;
    const all = cursor.parsed(bounds[0]![0], bounds.at(-1)![1]);
    for (const [i, [begin, end]] of bounds.entries()) {
      let event = all?.[i] ?? cursor.parsed(begin, end)?.[0];
      if (isObject(event) && hasLongId(event)) event = cursor.parsed(begin, end, true)?.[0];
      if (!isObject(event)) {
        cursor.at = begin;
        return this.#lose('an event is not valid JSON');
      }
      if (!this.#sink.event(event))
        this.#leaveOut(this.#offset + begin, end - begin, 'an event has no phase or no time');
      cursor.at = end;
    }
    return true;
  }

  /** Starts a damaged part at the cursor. */
  #lose(reason: string): true {
    this.#reason = reason;
    this.#lostFrom = this.#offset + this.#cursor.at;
    this.#state = 'lost';
    return true;
  }

  /** Handles a field that is invalid or incomplete. */
  #stop(begin: number): boolean {
    const cursor = this.#cursor;
    const incomplete = cursor.failure === INCOMPLETE && cursor.end - begin < MAX_EVENT;
    cursor.at = begin;
    if (incomplete) return false;
    return this.#lose('a field around the events is not valid JSON');
  }

  /** Searches for the next event: a readable object that begins with a field of events and has a phase. */
  #resume(last: boolean): boolean {
    const cursor = this.#cursor;
    const { bytes, end } = cursor;
    for (let at = cursor.at; at < end; at++) {
      if (bytes[at] !== OPEN_BRACE) continue;
      cursor.at = at;
      const event = this.#candidate();
      if (event !== undefined) {
        const behind = cursor.at;
        if (this.#sink.event(event)) {
          this.#leaveOut(this.#lostFrom, this.#offset + at - this.#lostFrom, this.#reason);
          this.found = true;
          this.#state = 'events';
          cursor.at = behind;
          return true;
        }
      } else if (cursor.failure === INCOMPLETE && !last && end - at < MAX_CANDIDATE) {
        cursor.at = at;
        return false;
      }
    }
    cursor.at = end;
    return false;
  }

  #leaveOut(offset: number, size: number, reason: string): void {
    this.whole = false;
    this.#sink.damage(offset, size, reason);
  }

  /** Returns the event at the cursor; undefined if there is none, with the failure in the cursor. */
  #candidate(): ChromeEvent | undefined {
    const cursor = this.#cursor;
    const { at, end } = cursor;
    cursor.at++;
    cursor.peek();
    if (!cursor.readString()) return undefined;
    const isKnown = EVENT_FIELDS.has(cursor.text());
    cursor.at = at;
    cursor.end = Math.min(end, at + MAX_CANDIDATE);
    const isComplete = isKnown && cursor.skipObject();
    cursor.end = end;
    const event = isComplete ? cursor.parsed(at, cursor.at)?.[0] : undefined;
    if (isObject(event) && event.ph !== undefined) return event;
    if (isKnown === isComplete) cursor.fail(INVALID);
    return undefined;
  }

  /** Ends the text, whose bytes from `at` on are unread. */
  #finish(at: number): void {
    const { end } = this.#cursor;
    if (this.#state === 'lost') {
      this.#leaveOut(this.#lostFrom, this.#offset + end - this.#lostFrom, this.#reason);
    } else if (at < end) {
      this.#cursor.at = at;
      if (this.#cursor.peek() >= 0 || !this.#bare) {
        this.#leaveOut(this.#offset + at, end - at, 'the last event is not complete');
      }
    } else if (this.#state !== 'end' && !this.#bare && this.found) {
      // An array may lack its bracket. An object without an end was truncated, perhaps between two events.
      this.#leaveOut(this.#offset + end, 0, 'the end of the text is missing');
    }
    this.#state = 'end';
  }
}

const BYTE_ORDER_MARK = 3;

/**
 * Returns whether a text may be a Chrome trace: an array of objects, or an object. Reading it shows whether it is one.
 */
export function looksLikeChrome(bytes: Uint8Array): boolean {
  const cursor = new JsonCursor();
  cursor.use(bytes, bytes.length);
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) cursor.at = BYTE_ORDER_MARK;
  const first = cursor.peek();
  cursor.at++;
  const second = cursor.peek();
  if (first === OPEN_BRACKET) return second === OPEN_BRACE || second === CLOSE_BRACKET;
  return first === OPEN_BRACE && (second === QUOTE || second === CLOSE_BRACE);
}

/** Returns whether a number that identifies something may have been rounded. */
function hasLongId({ id, pid, tid }: ChromeEvent): boolean {
  return isLong(id) || isLong(pid) || isLong(tid);
}

function isLong(value: unknown): boolean {
  return typeof value === 'number' && value > Number.MAX_SAFE_INTEGER;
}

function isObject(value: unknown): value is ChromeEvent {
  return typeof value === 'object' && value !== null;
}

// Skips a JSON value of any size that comes in chunks. A trace may have megabytes of stack frames beside its events,
// which need not be in memory.

class TopLevelSkip {
  #depth = 0;
  #inString = false;
  #escaped = false;

  begin(): void {
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
  }

  /**
   * Moves the cursor to the comma or bracket after the value and returns true. At the end of the chunk it returns
   * false; call it again with the next chunk.
   */
  skip(cursor: JsonCursor): boolean {
    const { bytes, end } = cursor;
    for (let at = cursor.at; at < end; at++) {
      const byte = bytes[at]!;
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (byte === BACKSLASH) this.#escaped = true;
        else if (byte === QUOTE) this.#inString = false;
        continue;
      }
      if (byte === QUOTE) this.#inString = true;
      else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) this.#depth++;
      else if (this.#depth === 0 && (byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET)) {
        cursor.at = at;
        return true;
      } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) this.#depth--;
    }
    cursor.at = end;
    return false;
  }
}
