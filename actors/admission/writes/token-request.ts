// The token subresource of service accounts (SPEC.md "Service-account tokens"): checks whom the token is for and what it is
// bound to; the auth actor signs it. Nothing is stored, so that a dry run differs in nothing.

import { ownedType } from '../../../api/apply/owned-type.ts';
import { applyDefaults } from '../../../api/codec/defaults.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { asObject } from '../../../api/json/object-fields.ts';
import { metadataOf, timestampOf } from '../../../api/metadata/object-meta.ts';
import type { KnownType } from '../../../api/resources/resource-table.ts';
import { splitApiVersion } from '../../../api/resources/resource-table.ts';
import { badRequest, conflict, notFound, serviceUnavailable } from '../../../api/status/failures.ts';
import { invalidFrom } from '../../../api/status/field-error.ts';
import { StatusError } from '../../../api/status/status.ts';
import type { BoundObject } from '../../../api/tokens/service-account-claims.ts';
import { withWarnings } from '../bodies/field-validation.ts';
import { decodeObject, schemaTypeOf, writeOptions } from '../bodies/request-body.ts';
import type { WriteReply, WriteRequest } from '../protocol.ts';
import { ownedBySender } from '../steps/ownership.ts';
import { admitOnce } from '../steps/steps.ts';
import { readCurrent } from '../stored/store-reader.ts';
import type { WriteContext } from '../write-context.ts';
import { attributesOf } from './request-attributes.ts';

interface BoundReference {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface TokenSpec {
  readonly audiences?: readonly string[] | null;
  readonly expirationSeconds?: number | null;
  readonly boundObjectRef?: BoundReference | null;
}

/** What a token can be bound to, and where it is kept. */
const BINDABLE: Readonly<Record<string, { readonly kind: BoundObject['kind']; readonly storageKey: string }>> = {
  Pod: { kind: 'pod', storageKey: 'core/pods' },
  Secret: { kind: 'secret', storageKey: 'core/secrets' },
};

/** POST serviceaccounts/<name>/token. Throws 400, 404, 409, 422, and 503 without a key to sign with. */
export async function requestToken(
  write: WriteContext,
  request: WriteRequest,
  accounts: KnownType,
): Promise<WriteReply> {
  const dryRun = writeOptions('CreateOptions', write.dialect.metaGroup, request.parameters);
  const { kind, group, version } = accounts.subresources.get('token')!;
  const expected = { apiVersion: `${group}/${version}`, kind };
  const { object: decoded, warnings } = decodeObject(write.schema, request, expected);
  const { namespace, name } = request.target;
  const schema = schemaTypeOf(write.schema, expected.apiVersion, kind)!;
  applyDefaults(decoded as Record<string, unknown>, schema);
  const sent = ownedBySender(write, request, decoded, ownedType(schema), expected.apiVersion);
  const attributes = attributesOf(write, request, accounts, { operation: 'create', dryRun });
  const object = await admitOnce(write, attributes, sent);
  const errors = write.validation.create(object, { group, version, kind });
  if (errors.length > 0) throw new StatusError(invalidFrom(kind, group, '', errors));
  const stored = await readCurrent(write, accounts, namespace, name);
  if (stored === null) throw new StatusError(notFound(accounts, name));
  const spec = (object.spec ?? {}) as TokenSpec;
  const audiences = spec.audiences ?? [];
  const expirationSeconds = spec.expirationSeconds ?? 0;
  const { boundObjectRef } = spec;
  const bound = boundObjectRef ? await boundObject(write, boundObjectRef, namespace, name) : undefined;
  const { uid = '' } = metadataOf(stored.object);
  const issued = await write.auth().ask(
    {
      type: 'issueToken',
      subject: { namespace, serviceAccount: { name, uid }, bound },
      audiences,
      expirationSeconds,
    },
    { deadlineMs: write.requestTimeoutMs, requestNumber: write.requestNumber },
  );
  if (issued.refused !== undefined)
    throw new StatusError(serviceUnavailable('this server has no key to sign tokens with'));
  const shortened = issued.expirationSeconds < expirationSeconds;
  const body = {
    ...expected,
    // The name in the path is the account's: one in the body says nothing, and is given back.
    metadata: metadataOf(object),
    spec: {
      ...(object.spec as JsonObject),
      audiences: issued.audiences,
      expirationSeconds: issued.expirationSeconds,
    },
    status: { token: issued.token, expirationTimestamp: timestampOf(issued.expiresMs) },
  };
  const reply = withWarnings({ code: 201, body, warnings }, attributes.warnings);
  if (!shortened) return reply;
  const warning = `requested expiration of ${expirationSeconds} seconds shortened to ${issued.expirationSeconds} seconds`;
  return withWarnings(reply, [warning]);
}

/** The object that a reference names, with its own uid. */
async function boundObject(
  write: WriteContext,
  { kind = '', apiVersion = '', name = '', uid = '' }: BoundReference,
  namespace: string,
  account: string,
): Promise<BoundObject> {
  const { group, version } = splitApiVersion(apiVersion);
  const bindable = group === '' && Object.hasOwn(BINDABLE, kind) ? BINDABLE[kind] : undefined;
  const type = bindable && write.registry.storageType(bindable.storageKey);
  if (bindable === undefined || type === undefined)
    throw new StatusError(badRequest(`cannot bind token to object of type ${group}/${version}, Kind=${kind}`));
  if (name === '') throw new StatusError(badRequest('Name parameter required.'));
  const stored = await readCurrent(write, type, namespace, name);
  if (stored === null) throw new StatusError(notFound(type, name));
  if (bindable.kind === 'pod' && accountOf(stored.object) !== account)
    throw new StatusError(
      badRequest(
        `cannot bind token for serviceaccount ${JSON.stringify(account)} to pod running with different serviceaccount name.`,
      ),
    );
  const { uid: actual = '' } = metadataOf(stored.object);
  if (uid !== '' && uid !== actual)
    throw new StatusError(
      conflict(
        { group: '', plural: kind },
        name,
        `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
      ),
    );
  return { kind: bindable.kind, name, uid: actual };
}

function accountOf({ spec }: JsonObject): unknown {
  return asObject(spec).serviceAccountName;
}
