import { Fragment } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { parseTheme, type Theme, themeCookie } from '../../boot.ts'
import { boot } from '../api/boot.ts'
import type { ConflictList, HeldBackList } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { number } from '../parts/format.ts'
import { Hidden, Icon, IconButton } from '../parts/icon.tsx'
import { TokenForm } from '../parts/token-form.tsx'
import type { ExplorerPage } from '../routes.ts'
import { accessHref, conflictsUrl, heldBackUrl } from '../url/pages.ts'
import { conflicts, heldBack, homeHref, type NavPlace, places } from './places.ts'
import { loginHref, signOut } from './session.ts'

const themes = [
  { value: 'system', words: 'System', icon: 'screen' },
  { value: 'light', words: 'Light', icon: 'sun' },
  { value: 'dark', words: 'Dark', icon: 'moon' },
] as const

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

interface Props {
  readonly page: ExplorerPage
  readonly path: string
  readonly onFind: () => void
}

export function Sidebar({ page, path, onFind }: Props) {
  const side = useRef<HTMLElement>(null)
  useEffect(() => {
    if (side.current?.matches(':popover-open')) side.current.hidePopover()
  }, [path])
  return (
    <>
      <header class="topbar">
        <IconButton icon="menu" words="Menu" look="bare" popovertarget="side" />
        <Brand />
        <IconButton icon="search" words="Go to" look="bare" onClick={onFind} />
      </header>
      <nav ref={side} class="side" id="side" popover="auto" aria-label="Depot">
        <Brand />
        <button type="button" class="find" onClick={onFind}>
          <Icon name="search" />
          <span class="txt">Go to…</span>
          <kbd>{isApple ? '⌘ K' : 'Ctrl K'}</kbd>
        </button>
        <ul class="nav">
          {places().map((place) => (
            <NavItem key={place.words} place={place} page={page} />
          ))}
        </ul>
        <NeedsALook page={page} />
        <div class="side-foot">
          {boot.devTokenInput && <TokenForm />}
          <ThemeChoice />
          <Identity />
        </div>
      </nav>
    </>
  )
}

/** Links to problems of the registry, for people who may see them. Hidden without problems. */
function NeedsALook({ page }: Pick<Props, 'page'>) {
  const held = useQuery<HeldBackList>(heldBackUrl()).data?.totalCount ?? 0
  const unserved = useQuery<ConflictList>(conflictsUrl()).data?.totalCount ?? 0
  if (held === 0 && unserved === 0) return null
  return (
    <div class="look">
      <p class="txt" id="look">
        Needs a look
      </p>
      <ul class="nav" aria-labelledby="look">
        {held > 0 && <NavItem place={heldBack} page={page} count={held} />}
        {unserved > 0 && <NavItem place={conflicts} page={page} count={unserved} />}
      </ul>
    </div>
  )
}

interface ItemProps extends Pick<Props, 'page'> {
  readonly place: NavPlace
  readonly count?: number
}

const NavItem = ({ place: { href, words, icon, pages }, page, count }: ItemProps) => (
  <li>
    <a href={href} title={words} aria-current={pages.includes(page) ? 'page' : undefined}>
      <Icon name={icon} />
      <span class="txt">{words}</span>
      {count !== undefined && <span class="count txt">{number(count)}</span>}
    </a>
  </li>
)

const Brand = () => (
  <a class="brand" href={homeHref()}>
    <Icon name="depot" />
    <span class="txt">Depot</span>
  </a>
)

function ThemeChoice() {
  const [theme, setTheme] = useState<string>(chosenTheme() ?? 'system')
  return (
    <fieldset class="theme">
      <legend class="vh">Theme</legend>
      {themes.map(({ value, words, icon }) => (
        <label key={value} title={words}>
          <input
            type="radio"
            name="theme"
            value={value}
            checked={theme === value}
            onChange={() => {
              setTheme(value)
              chooseTheme(value === 'system' ? undefined : value)
            }}
          />
          <Icon name={icon} />
          <Hidden>{words}</Hidden>
        </label>
      ))}
    </fieldset>
  )
}

function Identity() {
  const [problem, setProblem] = useState(false)
  if (!boot.signedIn) {
    if (!boot.oidc) return null
    return (
      <div class="who">
        <a class="btn" href={loginHref()}>
          <Icon name="user" />
          <span class="txt">Sign in</span>
        </a>
      </div>
    )
  }
  return (
    <div class="who">
      <a href={accessHref()} title="What may I see?">
        <span class="txt">
          <Wrapping text={boot.email ?? boot.name ?? 'Signed in'} />
        </span>
      </a>
      <IconButton
        icon="leave"
        words="Sign out"
        look="bare small"
        onClick={() => void signOut().catch(() => setProblem(true))}
      />
      {problem && <Hidden>Signing out failed. Reload the page and try again.</Hidden>}
    </div>
  )
}

/** An e-mail address should wrap after its `@` before it wraps within a word. */
const Wrapping = ({ text }: { readonly text: string }) => (
  <>
    {text.split(/(?<=@)/).map((part, at) => (
      <Fragment key={at}>
        {at > 0 && <wbr />}
        {part}
      </Fragment>
    ))}
  </>
)

const yearSeconds = 31_536_000

const chosenTheme = (): Theme | undefined => parseTheme(document.documentElement.dataset['theme'])

/** Shows the theme and sets its cookie, so that the server sends the next page with it. */
function chooseTheme(theme: Theme | undefined): void {
  const secure = location.protocol === 'https:' ? '; Secure' : ''
  const age = theme === undefined ? 0 : yearSeconds
  document.cookie = `${themeCookie}=${theme ?? ''}; Path=/; Max-Age=${age}; SameSite=Lax${secure}`
  if (theme === undefined) delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}
