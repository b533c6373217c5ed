// Node, workers and browsers all provide these classes; the type library of pure code lacks them.
declare class TextDecoder {
  constructor(encoding?: 'utf-8', options?: { readonly fatal: boolean; readonly ignoreBOM: boolean });
  decode(bytes: Uint8Array): string;
}
declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { readonly read: number; readonly written: number };
}
