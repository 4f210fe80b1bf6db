/** What is used of iovalkey, in a file of its own: names of a CommonJS package are lost where a bundle imports it on first use. */
export { Redis } from 'iovalkey'
