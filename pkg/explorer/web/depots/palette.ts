/** The colours of a drawing, as the theme has them now. */
export interface Palette {
  readonly surface: string
  readonly sunken: string
  readonly lineControl: string
  readonly text: string
  readonly text2: string
  readonly accent: string
  readonly accentSoft: string
  readonly warn: string
}

const variables: Readonly<Record<keyof Palette, string>> = {
  surface: '--surface',
  sunken: '--sunken',
  lineControl: '--line-control',
  text: '--text',
  text2: '--text-2',
  accent: '--accent',
  accentSoft: '--accent-soft',
  warn: '--warn',
}

/** @param probe an element of the page, which is left as it was */
export function readPalette(probe: HTMLElement): Palette {
  const before = probe.style.color
  const entries = Object.entries(variables).map(([name, variable]) => {
    probe.style.color = `var(${variable})`
    return [name, getComputedStyle(probe).color]
  })
  probe.style.color = before
  return Object.fromEntries(entries) as Record<keyof Palette, string>
}
