// The page that `visualize` writes: takes the data out of the document, inflates and checks it, and shows it. What goes
// wrong on the way is said on the page.
import { render } from 'preact';
import { LongpoleError } from '../base/errors.js';
import { decodeProfilePage } from '../protocol/profilePageCodec.js';
import { buildModel } from './model/profileModel.js';
import './views/base.css';
import './views/plots.css';
import './views/panels.css';
import { type PageHooks, ProfileApp } from './views/app.js';
import { PageState } from './views/pageState.js';
import { Problem } from './views/problem.js';

declare global {
  /** For tests and scripts: what the page shows, and when it is at rest. */
  var longpole: PageHooks | undefined;
}

async function readData(): Promise<Uint8Array> {
  const text = document.getElementById('longpole-data')?.textContent?.trim() ?? '';
  if (text === '') throw new LongpoleError('ERR_LONGPOLE_PAGE_DATA', 'The file holds no data.');
  try {
    const characters = atob(text);
    const packed = new Uint8Array(characters.length);
    for (let i = 0; i < packed.length; i++) packed[i] = characters.charCodeAt(i);
    const inflated = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(inflated).arrayBuffer());
  } catch (cause) {
    throw new LongpoleError(
      'ERR_LONGPOLE_PAGE_DATA',
      'The data of the page is damaged: the file was cut off or changed. Write the page again, or copy the whole file again.',
      { cause },
    );
  }
}

const app = document.getElementById('app');
if (app !== null) {
  try {
    const model = buildModel(decodeProfilePage(await readData()));
    const state = new PageState(model);
    const register = (hooks: PageHooks) => {
      globalThis.longpole = hooks;
    };
    render(<ProfileApp state={state} register={register} />, app);
  } catch (error) {
    render(<Problem error={error} />, app);
  }
}
