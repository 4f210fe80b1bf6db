import { parseTheme, type Theme, themeCookie } from '../../boot.ts'

const yearSeconds = 31_536_000

export const chosenTheme = (): Theme | undefined =>
  parseTheme(document.documentElement.dataset['theme'])

/** Shows the theme and sets its cookie, so that the server sends the next page with it. */
export function chooseTheme(theme: Theme | undefined): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  const age = theme === undefined ? 0 : yearSeconds
  document.cookie = `${themeCookie}=${theme ?? ''}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`
  if (theme === undefined) delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
