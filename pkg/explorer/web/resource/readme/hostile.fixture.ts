/* Documents that try to run code, to send requests, to look like the page, or to block the browser. */

const mark = 'globalThis.ran=1'

const schemes = [
  `javascript:${mark}`,
  `JaVaScRiPt:${mark}`,
  `java\tscript:${mark}`,
  ` javascript:${mark}`,
  `\u0001javascript:${mark}`,
  `javascript&colon;${mark}`,
  `&#106;avascript:${mark}`,
  `vbscript:msgbox(1)`,
  `data:text/html,<script>${mark}</script>`,
  `data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+`,
  'file:///etc/passwd',
  'blob:https://example.com/1',
  'filesystem:https://example.com/1',
  'about:blank',
  '//evil.example/path',
  '/auth/logout',
  '../../stats',
  'intent://evil.example#Intent;scheme=http;end',
]
const links = schemes.flatMap((url) => [
  `[click](<${url}>)`,
  `[click][ref]\n\n[ref]: <${url}>`,
  `![picture](<${url}>)`,
])

const markup = [
  `<script>${mark}</script>`,
  `text <script>${mark}</script> text`,
  `<img src=x onerror=${mark}>`,
  `<svg onload=${mark}>`,
  `<iframe srcdoc="<script>${mark}</script>"></iframe>`,
  `<a href="javascript:${mark}">a</a>`,
  `<a name="x" onclick="${mark}">a</a>`,
  `<a id="boot">a</a>`,
  `<a name="prime"></a>`,
  `<br onload=${mark}>`,
  `<style>* { display: none !important }</style>`,
  `<link rel=stylesheet href=https://evil.example/a.css>`,
  `<meta http-equiv=refresh content="0;url=https://evil.example">`,
  `<base href="https://evil.example/">`,
  `<form action="https://evil.example"><input name=q autofocus></form>`,
  `<object data="https://evil.example"></object>`,
  `<video src="https://evil.example/a.mp4" autoplay></video>`,
  `<div style="position:fixed;inset:0">over the page</div>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=${mark}>">`,
  `<noscript><p title="</noscript><img src=x onerror=${mark}>">`,
  `<template><script>${mark}</script></template>`,
  `<!--><script>${mark}</script>-->`,
  `<![CDATA[<script>${mark}</script>]]>`,
  `<?php echo 1 ?>`,
  `</div></main></body><h1>Another page</h1>`,
  `<details open ontoggle=${mark}><summary>a</summary></details>`,
  `\`\`\`"><script>${mark}</script>\n"><img src=x onerror=${mark}>\n\`\`\``,
  `\`<img src=x onerror=${mark}>\``,
  `| <img src=x onerror=${mark}> | b |\n| - | - |\n| <script>${mark}</script> | [x](javascript:${mark}) |`,
  `- [x] <input onfocus=${mark} autofocus>`,
  `# <img src=x onerror=${mark}>`,
  `[<img src=x onerror=${mark}>](https://example.com)`,
  `[![a](https://evil.example/pixel.png)](javascript:${mark})`,
  `![a](https://evil.example/pixel.png "onerror=${mark}")`,
  `<https://example.com/"onmouseover=${mark}>`,
  `https://example.com/<script>${mark}</script>`,
  `[a](https://example.com/"onclick=${mark} "title")`,
  `[^x]: <script>${mark}</script>\n\ntext[^x]`,
]

const looks = [
  '\u202E gpj.exe \u2066 reversed \u2069',
  'Z\u0300\u0301\u0302\u0303\u0304\u0305'.repeat(200),
  `# ${'W'.repeat(5000)}`,
  `| ${'a | '.repeat(300)}\n| ${'- | '.repeat(300)}`,
  `\`${'x'.repeat(20_000)}\``,
  '# readme\n\n# versions\n\n# usage\n\n# findings\n\n# app\n\n# boot',
  '\u0000\u0008\u001B[31mred',
  '\uD800 half of a pair',
  `[a]: https://example.com\n${'[a]\n'.repeat(2000)}`,
]

const heavy = [
  '> '.repeat(5000),
  `${'- '.repeat(3000)}a`,
  `${'  '.repeat(300)}- a`,
  '['.repeat(50_000),
  '![]('.repeat(20_000),
  '[a]('.repeat(20_000),
  '*a **b '.repeat(20_000),
  `${'*'.repeat(50_000)}a${'*'.repeat(50_000)}`,
  '_a'.repeat(50_000),
  '~a'.repeat(50_000),
  '`a``b'.repeat(20_000),
  '<'.repeat(50_000),
  '<a '.repeat(30_000),
  '&'.repeat(100_000),
  '\\'.repeat(100_000),
  '[^a]'.repeat(20_000),
  `${'| a '.repeat(5000)}\n${'| - '.repeat(5000)}\n${'| a '.repeat(5000)}`,
  `a\n${'-\n'.repeat(20_000)}`,
  'www.a.'.repeat(20_000),
  `${'a@'.repeat(20_000)}b`,
  'http://'.repeat(20_000),
  Array.from({ length: 100 }, (_item, depth) => `${'  '.repeat(depth)}- a`).join('\n'),
  `${'#'.repeat(6)} a\n`.repeat(5000),
  'a'.repeat(500_000),
]

/** Short ones, so that a page can contain many. */
export const hostileTexts: readonly string[] = [...links, ...markup, ...looks]

/** Each of them alone could take long to read. */
export const heavyTexts: readonly string[] = heavy
