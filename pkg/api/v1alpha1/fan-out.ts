import type { ComparableSink, ResourceSink } from './types.ts'

/** Passes everything on to several sinks, in their order. The first one knows all of it. */
export function fanOut(first: ComparableSink, ...others: readonly ResourceSink[]): ComparableSink {
  const sinks = [first, ...others]
  return {
    holds: (key, state) => first.holds(key, state),
    count: (kind) => first.count(kind),
    apply(change) {
      for (const sink of sinks) sink.apply(change)
    },
    beginReplace(kind) {
      const replacements = sinks.map((sink) => sink.beginReplace(kind))
      return {
        add: (resource) => replacements.forEach((it) => it.add(resource)),
        keep: (key) => replacements.forEach((it) => it.keep(key)),
        commit: async () => {
          for (const replacement of replacements) await replacement.commit()
        },
      }
    },
  }
}
