/** Characters that control a terminal or the order of a text, except line feeds, and lone surrogates. */
export const UNSAFE = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/u;
