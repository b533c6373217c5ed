// Colours of the canvases, except those of tasks. The style sheet has the same greys as variables.
import type { Scheme } from '../model/palette.js';

const LIGHT = {
  ground: '#ffffff',
  /** Colour of an empty lane. */
  lane: '#f4f5f7',
  grid: '#e9ebef',
  axis: '#cfd4dc',
  ink: '#1c2128',
  muted: '#667080',
  accent: '#2f6fed',
  cpu: '#2f6fed',
  cpuArea: 'rgba(47, 111, 237, 0.10)',
  memory: '#c2410c',
  overview: '#aeb8c8',
  /** Lines from the dependencies of the selected task, and to its dependents. */
  needs: '#0b57d0',
  neededBy: '#b3006e',
};

const DARK: typeof LIGHT = {
  ground: '#14171c',
  lane: '#1b1f26',
  grid: '#252a33',
  axis: '#3a414d',
  ink: '#e8ebf0',
  muted: '#98a2b3',
  accent: '#6ea0ff',
  cpu: '#6ea0ff',
  cpuArea: 'rgba(110, 160, 255, 0.14)',
  memory: '#fb923c',
  overview: '#566173',
  needs: '#7fd0ff',
  neededBy: '#ff9ad5',
};

export interface Theme extends Readonly<typeof LIGHT> {
  readonly scheme: Scheme;
}

export const THEMES: Readonly<Record<Scheme, Theme>> = {
  light: { ...LIGHT, scheme: 'light' },
  dark: { ...DARK, scheme: 'dark' },
};
