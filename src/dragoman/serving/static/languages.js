// The two lists of languages, and the button that swaps them.

const DETECT = "";

export class Languages {
  #models;
  #source = document.getElementById("source-language");
  #target = document.getElementById("target-language");
  #swap = document.getElementById("swap");

  constructor(models, { onChange, onSwap }) {
    this.#models = models;
    const sources = new Map(models.map((model) => [model.source, model.source_name]));
    fill(this.#source, [[DETECT, "Detect language"], ...sources]);
    this.#source.value = models[0].source;
    this.#fillTargets();
    this.#source.addEventListener("change", () => {
      this.#fillTargets();
      onChange();
    });
    this.#target.addEventListener("change", () => {
      this.#updateSwap();
      onChange();
    });
    this.#swap.addEventListener("click", () => {
      const { source, target } = this;
      this.choose(target, source);
      onSwap();
    });
  }

  // null stands for a language that the server shall find out
  get source() {
    return this.#source.value === DETECT ? null : this.#source.value;
  }

  get target() {
    return this.#target.value;
  }

  choose(source, target) {
    this.#source.value = source;
    this.#fillTargets();
    this.#target.value = target;
    this.#updateSwap();
  }

  nameOf(code) {
    const model = this.#models.find((m) => m.source === code || m.target === code);
    if (!model) return code;
    return model.source === code ? model.source_name : model.target_name;
  }

  modelOf(source, target) {
    return this.#models.find((model) => model.source === source && model.target === target);
  }

  get engine() {
    const model = this.modelOf(this.source, this.target);
    return model ? `${model.name}, ${model.engine}` : "";
  }

  #fillTargets() {
    const before = this.#target.value;
    const possible = this.#models.filter((m) => this.source === null || m.source === this.source);
    const targets = new Map(possible.map((model) => [model.target, model.target_name]));
    fill(this.#target, [...targets]);
    if (targets.has(before)) this.#target.value = before;
    this.#updateSwap();
  }

  #updateSwap() {
    this.#swap.disabled = !this.#models.some(
      (model) => model.source === this.target && model.target === this.source,
    );
  }
}

function fill(select, entries) {
  select.replaceChildren(...entries.map(([code, name]) => new Option(name, code)));
}
