import { parse } from 'hono/utils/cookie'
import { parseTheme, themeCookie } from './boot.ts'
import type { ExplorerContext } from './request.ts'

/** Of the html element, with a blank before it; empty where the system's theme holds. */
export function themeAttribute(c: ExplorerContext): string {
  const theme = parseTheme(parse(c.req.header('cookie') ?? '', themeCookie)[themeCookie])
  return theme === undefined ? '' : ` data-theme="${theme}"`
}
