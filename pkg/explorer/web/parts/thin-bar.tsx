const whole = 1000

/** A share of the longest bar, as a picture of the number next to it. */
export const ThinBar = ({ share }: { readonly share: number }) => (
  <svg class="bar thin" viewBox={`0 0 ${whole} 6`} preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" width={whole} height="6" />
    <rect class="f" width={Math.max(2, share * whole)} height="6" />
  </svg>
)
