// The custom type that the operators of the tests look after.

export const WIDGETS = { group: 'operators.example.com', version: 'v1', plural: 'widgets' } as const;

export interface Widget {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly uid: string; readonly resourceVersion: string };
  readonly spec: { readonly size: number; readonly color?: string };
  readonly status?: { readonly observedSize?: number; readonly observedColor?: string };
}

/** Its definition; later on, with a color that is `red` where nobody says one. */
export function widgetDefinition(isLater: boolean) {
  const { group, version, plural } = WIDGETS;
  const color = isLater ? { color: { type: 'string', default: 'red' } } : {};
  const status = { observedSize: { type: 'integer' }, observedColor: { type: 'string' } };
  const schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer' }, ...color } },
      status: { type: 'object', properties: status },
    },
  };
  const versions = [
    { name: version, served: true, storage: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } },
  ];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, singular: 'widget', kind: 'Widget' }, versions },
  };
}
