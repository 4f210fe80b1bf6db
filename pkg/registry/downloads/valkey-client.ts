/** The used part of iovalkey in a file of its own: a bundle that imports a CommonJS package on demand loses its names. */
export { Redis } from 'iovalkey'
