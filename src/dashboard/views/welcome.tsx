// The page without a trace: how to get one onto it.
import { FileSource } from '../source/fileSource.js';
import type { ShellState } from './shellState.js';

export function Welcome({ state }: { readonly state: ShellState }) {
  const open = (list: FileList | null) => {
    const files = [...(list ?? [])];
    if (files.length > 0) state.open(new FileSource(files));
  };
  return (
    <section class="nothing">
      <h2>Drop a trace here</h2>
      <p>
        A trace directory, a performance report, an event file of DASF, or Chrome Trace JSON. It is read in
        this page and goes nowhere.
      </p>
      <p class="choices">
        <label class="choice">
          Choose a file
          <input type="file" onChange={(event) => open(event.currentTarget.files)} />
        </label>
        <label class="choice">
          Choose a trace directory
          <input
            ref={(input) => {
              // Preact's types do not know the attribute.
              input?.setAttribute('webkitdirectory', '');
            }}
            type="file"
            onChange={(event) => open(event.currentTarget.files)}
          />
        </label>
      </p>
    </section>
  );
}
