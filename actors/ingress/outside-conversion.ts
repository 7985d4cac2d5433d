// Custom objects whose definition has a webhook that converts them: the thread's admission, which calls the webhooks, is asked, a
// batch at a time. Who asks waits; everybody else is served meanwhile.
import type { JsonObject } from '../../api/json-value.ts';
import type { KnownType } from '../../api/resources/resource-table.ts';
import { StatusError } from '../../api/status/status.ts';
import type { Ref } from '../../runtime/actor.ts';
import type { AdmissionProtocol } from '../admission/protocol.ts';

export class OutsideConversion {
  readonly #admission: Ref<AdmissionProtocol>;
  readonly #deadlineMs: number;

  constructor(admission: Ref<AdmissionProtocol>, deadlineMs: number) {
    this.#admission = admission;
    this.#deadlineMs = deadlineMs;
  }

  /** Stored objects in the version of a type, in their order. Rejects with the StatusError that the client is told. */
  async into(type: KnownType, objects: readonly JsonObject[], requestNumber: number): Promise<readonly JsonObject[]> {
    if (objects.length === 0) return objects;
    const { group, version, plural: resource } = type;
    const answer = await this.#admission.ask(
      { type: 'convert', target: { group, version, resource }, objects },
      { deadlineMs: this.#deadlineMs, requestNumber },
    );
    if (answer.refused !== undefined) throw new StatusError(answer.refused);
    return answer.objects;
  }
}
