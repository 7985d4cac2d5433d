// Ingresses: the older versions name a service and its port in the backend itself, v1 in an object of its own.
import { isJsonObject, type JsonObject } from '../json/json-value.ts';
import { chained, eachOf, inside, type Pair, renaming, type StepTable } from './step.ts';

const backend: Pair = {
  up: ({ serviceName = '', servicePort = 0, ...rest }) => {
    if (serviceName === '' && servicePort === 0) return rest;
    const port = typeof servicePort === 'string' ? { name: servicePort } : { number: servicePort };
    return { ...rest, service: { name: serviceName, port } };
  },
  down: ({ service, ...rest }) => {
    if (!isJsonObject(service)) return rest;
    const { name, number = 0 } = (service.port ?? {}) as JsonObject;
    return { ...rest, serviceName: service.name, servicePort: name || number };
  },
};

const ingress: Pair = inside(
  'spec',
  chained(
    renaming({ backend: 'defaultBackend' }),
    inside('defaultBackend', backend),
    eachOf('rules', inside('http', eachOf('paths', inside('backend', backend)))),
  ),
);

const HUB = 'networking/v1.Ingress';

export const networkingSteps: StepTable = {
  'extensions/v1beta1.Ingress': { hub: HUB, ...ingress },
  'networking/v1beta1.Ingress': { hub: HUB, ...ingress },
};
