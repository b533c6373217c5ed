// Steps over one JSON value of any size, whose text comes in chunks: a trace may carry megabytes of stack frames beside
// its events, and none of it has to be in memory at once.
import {
  BACKSLASH,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  type JsonCursor,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from './jsonCursor.js';

export class TopLevelSkip {
  #depth = 0;
  #inString = false;
  #escaped = false;

  begin(): void {
    this.#depth = 0;
    this.#inString = false;
    this.#escaped = false;
  }

  /**
   * Moves the cursor to the comma or the bracket behind the value, and returns true; or to the end of the bytes, and
   * returns false: go on with the next chunk.
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
