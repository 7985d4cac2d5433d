// The containers of a pod template, for the wide columns of everything that makes pods.
import type { JsonObject } from '../json/json-value.ts';
import { partAt, partsAt, textAt } from '../json/object-fields.ts';
import { type Column, wideColumn } from './column.ts';

/** Finds the pod template in an object. */
export type TemplateOf = (object: JsonObject) => JsonObject;

/** The template most kinds have. */
export function specTemplate(object: JsonObject): JsonObject {
  return partAt(partAt(object, 'spec'), 'template');
}

/** One member of all containers of a pod template, joined by commas. */
export function containersText(template: JsonObject, member: 'name' | 'image'): string {
  const containers = partsAt(partAt(template, 'spec'), 'containers');
  return containers.map((container) => textAt(container, member)).join(',');
}

/** The columns Containers and Images. */
export function containerColumns(templateOf: TemplateOf): readonly Column[] {
  return [
    wideColumn('Containers', 'string', 'The names of the containers in the pod template.', (object) =>
      containersText(templateOf(object), 'name'),
    ),
    wideColumn('Images', 'string', 'The images of the containers in the pod template.', (object) =>
      containersText(templateOf(object), 'image'),
    ),
  ];
}
