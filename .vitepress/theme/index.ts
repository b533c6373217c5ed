// The default theme with the fonts of the reader's system: nothing is loaded from another server.
export { default } from 'vitepress/theme-without-fonts';
