import { Component } from 'preact'
import { Void } from './message.tsx'

interface Props {
  /** A new value clears the error. */
  readonly resetOn: string
  readonly what: string
  readonly children: preact.ComponentChildren
}

/** Limits a rendering error to its region. */
export class ErrorBoundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false }

  static override getDerivedStateFromError() {
    return { failed: true }
  }

  override componentDidUpdate(before: Props): void {
    if (before.resetOn !== this.props.resetOn && this.state.failed) this.setState({ failed: false })
  }

  override render({ what, children }: Props) {
    if (!this.state.failed) return children
    return (
      <Void words={`${what} cannot be shown.`} isPage role="alert">
        <p>
          The answer is not what this page expects. Reload the page. If that does not help, check
          that the explorer and the server have the same version.
        </p>
        <button type="button" class="btn" onClick={() => location.reload()}>
          Reload
        </button>
      </Void>
    )
  }
}
