/** The path between a repository and a tag in the URL of a file. Other code hosts use other URLs. */
const pagesOf = [
  { host: /(^|\.)github\./, page: 'blob' },
  { host: /(^|\.)gitlab\./, page: '-/blob' },
  { host: /^bitbucket\.org$/, page: 'src' },
]

/**
 * Returns the web page of a folder of a repository at a tag. It ends with a slash, so that relative links of a README work.
 * Undefined if the code host or the tag is unknown.
 *
 * @param folder path in the repository; default: its root
 */
export function filesUrl(repoUrl = '', tag?: string, folder = ''): string | undefined {
  const url = URL.parse(repoUrl)
  if (tag === undefined || url?.protocol !== 'https:') return undefined
  const page = pagesOf.find(({ host }) => host.test(url.hostname))?.page
  if (page === undefined) return undefined
  const repository = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '')
  const path = [...tag.split('/'), ...folder.split('/')].filter((part) => part !== '')
  return `${url.origin}${repository}/${page}/${path.map(encodeURIComponent).join('/')}/`
}
