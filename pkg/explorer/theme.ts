import { parse } from 'hono/utils/cookie'
import { parseTheme, themeCookie } from './boot.ts'
import type { ExplorerContext } from './request.ts'

/** Attribute of the html element, with a space before it; empty for the theme of the system. */
export function themeAttribute(c: ExplorerContext): string {
  const theme = parseTheme(parse(c.req.header('cookie') ?? '', themeCookie)[themeCookie])
  return theme === undefined ? '' : ` data-theme="${theme}"`
}
