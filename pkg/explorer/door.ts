import { html, raw } from 'hono/html'
import { type ExplorerContext, note } from './request.ts'
import { themeAttribute } from './theme.ts'

/** A page outside of the app, for people without a session. */
export interface Door {
  readonly title: string
  /** HTML below the heading. */
  readonly content: ReturnType<typeof html>
}

/** Answers with a page without scripts. @param stylesheets paths of the built style sheets */
export function openDoor(
  c: ExplorerContext,
  stylesheets: readonly string[],
  { title, content }: Door,
): Response | Promise<Response> {
  note(c, c.req.path)
  const page = html`<!doctype html>
<html${raw(themeAttribute(c))} lang="en">
<head>
<meta charset="utf-8">
<title>${title} · Depot</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${stylesheets.map((href) => html`<link rel="stylesheet" href="${href}">`)}
</head>
<body>
<div class="door">
<header><a class="brand" href="/"><img src="/favicon.svg" alt="">Depot</a></header>
<main><h1>${title}</h1>${content}</main>
</div>
</body>
</html>`
  return c.html(page, 200, { 'Cache-Control': 'no-store' })
}
