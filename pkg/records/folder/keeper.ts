import type { JsonReader, Resource } from '../../api/v1alpha1/v1alpha1.ts'
import type { StatusReading } from './read-object.ts'
import { type ReadmeConfigMap, readmesIn } from './readme.ts'

/** The parts of objects that a reader of a folder keeps: O for our kinds, E for useful objects of other kinds. */
export interface Keeper<O, E> {
  /** @param value as in the file */
  object(resource: Resource, value: Readonly<Record<string, unknown>>): O
  /** Adds the status of a separate file to an object. */
  withStatus(object: O, status: StatusReading): O
  extra(value: unknown, apiGroup: string): E | undefined
}

/**
 * Keeps the fields for the catalog and lint, and READMEs.
 *
 * @param json shares findings with other objects
 */
export function resourceKeeper(json: JsonReader): Keeper<Resource, ReadmeConfigMap> {
  return {
    object: (resource) => detached(resource, json),
    withStatus: (resource, { parsed }) =>
      detached({ ...resource, status: parsed } as Resource, json),
    extra: readmesIn,
  }
}

/**
 * Copies an object, so that it shares no memory with the text of its file, and shares each finding with equal ones. The copy
 * has no resourceVersion: that of a file has no meaning, and the catalog would refuse objects that look old.
 */
function detached(resource: Resource, json: JsonReader): Resource {
  const text = JSON.stringify(resource)
  // Half a character, which no URL can contain. API servers replace it likewise.
  const isOdd = /\\ud[89a-f]/i.test(text)
  const copy = (isOdd ? JSON.parse(text, wellFormed) : json.parse(text)) as Resource
  return { ...copy, metadata: { ...copy.metadata, resourceVersion: '' } } as Resource
}

const wellFormed = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value
