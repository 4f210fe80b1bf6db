import { Icon } from './icon.tsx'

interface Props {
  readonly label: string
  readonly value: string
  /** Value and words; the first is what is chosen while nothing is. */
  readonly options: readonly (readonly [value: string, words: string])[]
  /** Undefined where the server draws: the app that would listen has not started. */
  readonly onChoose: ((value: string) => void) | undefined
  /** Whether it is tinted where it is not on the first option. */
  readonly tinted?: boolean
}

export function Pick({ label, value, options, onChoose, tinted = true }: Props) {
  const on = tinted && value !== options[0]?.[0]
  return (
    <span class={on ? 'pick on' : 'pick'} inert={onChoose === undefined}>
      <select
        class="field"
        aria-label={label}
        value={value}
        onChange={(event) => onChoose?.(event.currentTarget.value)}
      >
        {options.map(([option, words]) => (
          <option key={option} value={option} selected={option === value}>
            {words}
          </option>
        ))}
      </select>
      <Icon name="down" />
    </span>
  )
}

/** Options of names, after one that stands for all of them; the name in use is there although it is not listed. */
export function nameOptions(
  all: string,
  names: readonly string[],
  used = '',
): (readonly [string, string])[] {
  const known = used === '' || names.includes(used) ? names : [...names, used]
  return [['', all], ...known.map((name) => [name, name] as const)]
}
