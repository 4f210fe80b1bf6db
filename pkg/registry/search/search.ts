/** Full-text search over names and documentation of the latest versions, within the view of a caller. */

export { SearchFeed } from './search-feed.ts'
export { Search, type SearchFilter } from './text-index.ts'
