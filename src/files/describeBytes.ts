// What a file looks like that is not what it should be, in words for an error message.

const SIGNATURES: readonly (readonly [readonly number[], string])[] = [
  [[0x1f, 0x8b], 'it begins like gzip'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'it begins like zstd'],
  [[0x50, 0x4b, 3, 4], 'it begins like a zip archive'],
  [[0x41, 0x52, 0x52, 0x4f, 0x57, 0x31], 'it begins like an Arrow file'],
  [
    [0xff, 0xff, 0xff, 0xff],
    'it begins like an Arrow stream; of a table of a trace directory, name the directory',
  ],
  [[0x50, 0x41, 0x52, 0x31], 'it begins like a Parquet file'],
  [[0x7f, 0x45, 0x4c, 0x46], 'it begins like a program'],
];

/** A clause without a full stop. */
export function describeBytes(bytes: Uint8Array): string {
  const known = SIGNATURES.find(([signature]) => signature.every((byte, i) => bytes[i] === byte));
  if (known !== undefined) return known[1];
  const head = bytes.subarray(0, 40);
  const text = new TextDecoder().decode(head);
  const first = text.trimStart()[0];
  if (first === '{' || first === '[') return `it begins like JSON, ${JSON.stringify(text)}`;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what tells bytes from text
  if (!/[\u0000-\u0008\u000e-\u001f\ufffd]/.test(text)) return `it begins like text, ${JSON.stringify(text)}`;
  return `it begins with the bytes ${Array.from(head.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`;
}
