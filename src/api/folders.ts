// Writing of files and folders, for the command line.
export { makeFolders } from '../files/makeFolders.js';
export { writePieces } from '../files/writePieces.js';
