/** Characters other than line feeds that control a terminal or the order of a text, and lone surrogates. */
export const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u;
