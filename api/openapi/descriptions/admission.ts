// Texts of the group admissionregistration: webhooks that are asked before something is stored.
import type { Descriptions } from './texts.ts';

/** What webhooks of both kinds have alike. */
function webhookTexts(kind: string): Descriptions {
  const texts: Descriptions = {
    admissionReviewVersions: 'Versions of the review that it understands, the preferred first.',
    clientConfig: 'How it is reached.',
    failurePolicy: 'Whether a request fails when it cannot be asked, or goes on.',
    matchPolicy: 'Whether rules are about requests in exactly their version, or in any version of the same resource.',
    name: 'Its full name, with dots.',
    namespaceSelector: 'Only for objects in namespaces with these labels.',
    objectSelector: 'Only for objects with these labels, before or after.',
    rules: 'What it is asked about.',
    sideEffects: 'Whether asking it changes anything elsewhere. If so, it is not asked in dry runs.',
    timeoutSeconds: 'Seconds it has to answer, from 1 to 30. 10 when left out.',
  };
  return Object.fromEntries(Object.entries(texts).map(([field, text]) => [`${kind}.${field}`, text]));
}

export const ADMISSION: Descriptions = {
  MutatingWebhook: 'Somebody who is asked, and may change what is to be stored.',
  ...webhookTexts('MutatingWebhook'),
  'MutatingWebhook.reinvocationPolicy': 'Whether it is asked again when others changed something after it.',
  MutatingWebhookConfiguration: 'Webhooks that may change what is to be stored.',
  'MutatingWebhookConfiguration.webhooks': 'The webhooks.',
  RuleWithOperations: 'Requests that a webhook is asked about. All members must fit.',
  'RuleWithOperations.apiGroups': 'The groups. "*": all.',
  'RuleWithOperations.apiVersions': 'The versions. "*": all.',
  'RuleWithOperations.operations': 'What is done. "*": everything.',
  'RuleWithOperations.resources': 'The resources, such as "pods", "pods/*" or "*/status". "*": all but subresources.',
  'RuleWithOperations.scope': 'Whether the resources lie in namespaces. "*": either.',
  ServiceReference: 'A service that the webhook is behind.',
  'ServiceReference.name': 'Its name.',
  'ServiceReference.namespace': 'Its namespace.',
  'ServiceReference.path': 'The path to send requests to.',
  'ServiceReference.port': 'Its port. 443 when left out.',
  ValidatingWebhook: 'Somebody who is asked, and may refuse what is to be stored.',
  ...webhookTexts('ValidatingWebhook'),
  ValidatingWebhookConfiguration: 'Webhooks that may refuse what is to be stored.',
  'ValidatingWebhookConfiguration.webhooks': 'The webhooks.',
  WebhookClientConfig: 'How a webhook is reached: by its URL or through a service.',
  'WebhookClientConfig.caBundle': 'Authorities that its certificate must be of, as PEM. Empty: those of the system.',
  'WebhookClientConfig.service': 'The service it is behind.',
  'WebhookClientConfig.url': 'Its URL, which begins with https://.',
};
