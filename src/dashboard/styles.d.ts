// The bundler takes style sheets as imports for their effect.
declare module '*.css';
