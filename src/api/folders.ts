// For commands that write files where they are told.
export { makeFolders } from '../files/makeFolders.js';
export { writePieces } from '../files/writePieces.js';
