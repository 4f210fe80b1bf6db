/** The path between a repository and a tag in the URL of a file. Other code hosts have URLs of another form. */
const pagesOf = [
  { host: /(^|\.)github\./, page: 'blob' },
  { host: /(^|\.)gitlab\./, page: '-/blob' },
  { host: /^bitbucket\.org$/, page: 'src' },
]

/**
 * The web page of a folder of a repository at a tag, with a slash at the end, so that relative links of a README in it lead
 * from there. undefined if the code host is not known, or the tag.
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
