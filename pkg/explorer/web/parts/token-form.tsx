import { useState } from 'preact/hooks'
import { boot } from '../api/boot.ts'
import { clearDevToken, saveDevToken } from '../shell/session.ts'
import { Hidden, Icon } from './icon.tsx'

/** Form for the developer token. The server keeps the token, and the page never reads it back. */
export function TokenForm() {
  const [token, setToken] = useState('')
  const [problem, setProblem] = useState('')
  const failed = (error: unknown): void => setProblem(error instanceof Error ? error.message : '')
  return (
    <form
      class="token"
      onSubmit={(event) => {
        event.preventDefault()
        if (token.trim() !== '') saveDevToken(token.trim()).catch(failed)
      }}
    >
      <label class="field">
        <Icon name="key" />
        <Hidden>Bearer token</Hidden>
        <input
          type="password"
          placeholder="Bearer token"
          autoComplete="off"
          value={token}
          onInput={(event) => setToken(event.currentTarget.value)}
        />
      </label>
      <span class="row">
        <button type="submit" class="btn">
          Save
        </button>
        <button
          type="button"
          class="btn bare"
          onClick={() => {
            setToken('')
            if (boot.devTokenInUse) clearDevToken().catch(failed)
          }}
        >
          Clear
        </button>
      </span>
      {problem !== '' && <p role="alert">{problem}</p>}
    </form>
  )
}
