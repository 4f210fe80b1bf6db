import { Component } from 'preact'

interface Props {
  /** Another value starts afresh. */
  readonly resetOn: string
  readonly what: string
  readonly children: preact.ComponentChildren
}

/** Keeps what cannot be drawn to its own region. */
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
      <div class="void" role="alert">
        <h2 class="h3">{what} cannot be shown.</h2>
        <p>
          The answer is not what this page expects. Reload it; if that does not help, the explorer
          and the server may be of different versions.
        </p>
        <button type="button" class="btn" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    )
  }
}
