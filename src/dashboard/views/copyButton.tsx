// A button that puts a text into the clipboard, and says so.
import { useEffect, useState } from 'preact/hooks';

interface Props {
  readonly text: string;
  /** Of the button, e.g. `Copy key`. */
  readonly label: string;
}

export function CopyButton({ text, label }: Props) {
  const [said, setSaid] = useState('');
  useEffect(() => setSaid(''), [text]);
  const copy = async () => setSaid((await toClipboard(text)) ? 'Copied' : 'Not allowed here');
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{said === '' ? label : said}</span>
    </button>
  );
}

/** Whether it worked. Pages that are neither from disk, nor of this machine, nor encrypted have the older way alone. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelection(text);
  }
}

function copySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'hidden';
  const focused = document.activeElement;
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return done;
}
