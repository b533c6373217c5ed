/** Minimum number of characters in a piece, because the text of millions of tasks exceeds the longest string. */
const PIECE = 1 << 16;

/** Joins texts to fewer pieces of whole texts. */
export function* inPieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
