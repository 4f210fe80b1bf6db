import { useLayoutEffect, useRef } from 'preact/hooks'

interface Props {
  readonly label: string
  readonly class: string
  readonly onClose: () => void
  readonly children: preact.ComponentChildren
}

/** A native modal dialog. Escape or a click outside closes it. Nothing behind it can be reached. */
export function Dialog({ label, class: name, onClose, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before the page is painted, so that the next keys go to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      class={name}
      aria-label={label}
      onClose={onClose}
      onClick={(event) => {
        if (event.target === dialog.current) dialog.current?.close()
      }}
    >
      {children}
    </dialog>
  )
}
