// Shown instead of data that cannot be read.
import { LongpoleError, messageOf } from '../../base/errors.js';

export function Problem({ error }: { readonly error: unknown }) {
  const known = error instanceof LongpoleError;
  const message = messageOf(error);
  return (
    <main class="problem">
      <h1>This page cannot show its data</h1>
      <p>{known ? message : `The script of the page failed: ${message}`}</p>
      {known ? <p class="code">{error.code}</p> : null}
    </main>
  );
}
