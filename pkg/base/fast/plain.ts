/** True if the tricks are off in this process. Answers must not differ. Parts read it when they are created. */
export const isPlain = (): boolean => process.env['DEPOT_PLAIN'] === '1'
