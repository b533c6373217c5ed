// Writing of files and folders, for the command line.
export { makeFolders } from '../files/makeFolders.js';
export { makeFolder, writePieces } from '../files/writePieces.js';
