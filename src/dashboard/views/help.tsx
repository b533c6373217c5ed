// The dialog that lists keys and gestures.
import { useEffect, useRef } from 'preact/hooks';
import { GRAPH_HELP, KEY_HELP, POINTER_HELP } from '../canvas/keys.js';
import type { PageState } from './pageState.js';
import { Button, set } from './parts.js';

interface Props {
  readonly state: PageState;
  readonly graphs?: boolean;
}

export function Help({ state, graphs = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = state.helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const close = set(state.helpOpen, false);
  return (
    <dialog ref={dialog} class="help" aria-labelledby="help-title" onClose={close}>
      <header>
        <h2 id="help-title">Keyboard and pointer</h2>
        <Button text="×" aria-label="Close help" onClick={close} />
      </header>
      <div class="columns">
        <dl>
          {KEY_HELP.map(([keys, meaning]) => (
            <div key={keys.join()}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
        <dl>
          {[...POINTER_HELP, ...(graphs ? GRAPH_HELP : [])].map(([gesture, meaning]) => (
            <div key={gesture}>
              <dt>{gesture}</dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </div>
      <p>
        If many tasks share a pixel, the height of a colour is the share of time in which tasks of its prefix
        ran. The plot contains every task; zoom in to see single tasks.
      </p>
    </dialog>
  );
}
