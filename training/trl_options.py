"""Options passed on to TRL (``trl:`` in a settings file) and to trackers (``report_to``), and which are refused."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Literal

from agent.language import Message, deferred, tr
from agent.settings_file import Mismatch
from training.settings import SettingsError

Stage = Literal["sft", "grpo"]
Tracker = Literal["tensorboard", "trackio", "wandb", "mlflow", "swanlab", "comet_ml"]
Options = dict[str, Any]

_PACKAGES: Mapping[Tracker, tuple[str, ...]] = {
    "tensorboard": ("tensorboard", "tensorboardX"),
    "comet_ml": ("comet_ml",),
    "trackio": ("trackio",),
    "wandb": ("wandb",),
    "mlflow": ("mlflow",),
    "swanlab": ("swanlab",),
}
"""The modules of each tracker, of which one is needed; the first has the name of its package."""

_RENDERER = deferred("training.render makes the tokens, the mask and the batches")
_TOOL = deferred("the inspection loop calls the tool")
_RESUME = deferred("a resumed run would differ from an uninterrupted one")
_LOG = deferred("the run's log has one line per step or round")
_HUB = deferred("use `spec-o3 model push` when the run is finished")
_LAUNCH = deferred("the launcher decides it")
_CHECKPOINTS = deferred("a checkpoint holds everything that resuming needs")

_BOTH: Mapping[str, str] = {
    "output_dir": "output",
    "seed": "seed",
    "data_seed": "seed",
    "learning_rate": "learning_rate",
    "warmup_steps": "warmup",
    "weight_decay": "weight_decay",
    "max_grad_norm": "max_grad_norm",
    "bf16": "model.dtype",
    "fp16": "model.dtype",
    "bf16_full_eval": "model.dtype",
    "fp16_full_eval": "model.dtype",
    "model_init_kwargs": "model",
    "trust_remote_code": "model",
    "gradient_checkpointing": "gradient_checkpointing",
    "deepspeed": "deepspeed",
    "save_total_limit": "keep_checkpoints",
    "report_to": "report_to",
    "label_names": _RENDERER,
    "remove_unused_columns": _RENDERER,
    "train_sampling_strategy": _RENDERER,
    "length_column_name": _RENDERER,
    "auto_find_batch_size": _RESUME,
    "ignore_data_skip": _RESUME,
    "resume_from_checkpoint": deferred("the same command continues a run"),
    "save_strategy": _CHECKPOINTS,
    "save_only_model": _CHECKPOINTS,
    "logging_steps": _LOG,
    "logging_strategy": _LOG,
    "logging_first_step": _LOG,
    "logging_nan_inf_filter": _LOG,
    "disable_tqdm": deferred("this program shows its own progress"),
    "use_cpu": deferred("a GPU is used where there is one"),
    "local_rank": _LAUNCH,
    "ddp_find_unused_parameters": deferred("every example has a picture, so every trained parameter is used"),
    "push_to_hub": _HUB,
    "hub_model_id": _HUB,
    "hub_token": _HUB,
    "do_train": _LAUNCH,
    "do_eval": _LAUNCH,
    "do_predict": _LAUNCH,
}

_SFT: Mapping[str, str] = {
    "num_train_epochs": "epochs",
    "max_steps": "max_steps",
    "per_device_train_batch_size": "batch_size",
    "per_device_eval_batch_size": "batch_size",
    "gradient_accumulation_steps": "accumulation",
    "lr_scheduler_type": "schedule",
    "adam_beta2": "beta2",
    "save_steps": "save_steps",
    "eval_strategy": "held_out",
    "eval_steps": "save_steps",
    "load_best_model_at_end": "keep_best",
    "metric_for_best_model": "keep_best",
    "greater_is_better": "keep_best",
    "prediction_loss_only": deferred("only the loss is measured on held-out data"),
    "dataloader_num_workers": "workers",
    "dataloader_pin_memory": deferred("it is on where there is a GPU"),
    "max_length": "max_length",
    "truncation_mode": deferred("an example is never cut (`max_length` leaves out longer ones)"),
    **dict.fromkeys(
        (
            "dataset_kwargs",
            "dataset_num_proc",
            "dataset_text_field",
            "packing",
            "packing_strategy",
            "eval_packing",
            "padding_free",
            "pad_token",
            "pad_to_multiple_of",
            "eos_token",
            "chat_template_path",
            "assistant_only_loss",
            "completion_only_loss",
        ),
        _RENDERER,
    ),
}

_GRPO: Mapping[str, str] = {
    **dict.fromkeys(
        ("load_best_model_at_end", "metric_for_best_model", "greater_is_better"),
        deferred("the weights with the best validation are kept without it"),
    ),
    "num_train_epochs": "epochs",
    "max_steps": "rounds",
    "per_device_train_batch_size": "per_device",
    "gradient_accumulation_steps": "mini_batch",
    "steps_per_generation": "prompts",
    "generation_batch_size": "prompts",
    "num_generations": "rollouts",
    "num_iterations": deferred("a round is learned from once, in prompts / mini_batch updates"),
    "lr_scheduler_type": "schedule",
    "save_steps": "save_rounds",
    "shuffle_dataset": deferred("the order of the rounds follows from `seed`"),
    "dataloader_drop_last": deferred("the order of the rounds follows from `seed`"),
    "epsilon": "clip_low",
    "epsilon_high": "clip_high",
    "delta": "dual_clip",
    "beta": "kl",
    "loss_type": "loss",
    "scale_rewards": "scale",
    "temperature": "temperature",
    "top_p": "top_p",
    "max_completion_length": "response_tokens",
    "mask_truncated_completions": "mask_unfinished",
    "disable_dropout": deferred("sampling and training must give the same probabilities"),
    "log_completions": "traces",
    "log_multimodal": "traces",
    "num_completions_to_print": "traces",
    "log_unique_prompts": "traces",
    "log_completions_hub_repo": "traces",
    "use_vllm": "vllm.mode",
    "vllm_mode": "vllm.mode",
    "vllm_gpu_memory_utilization": "vllm.memory",
    "vllm_tensor_parallel_size": "vllm.tensor_parallel",
    "vllm_enable_sleep_mode": "vllm.sleep",
    "vllm_max_model_length": "response_tokens",
    "vllm_server_host": "vllm.host",
    "vllm_server_port": "vllm.port",
    "vllm_group_port": "vllm.group_port",
    "vllm_server_timeout": "vllm.timeout",
    "vllm_importance_sampling_correction": "vllm.correction",
    "vllm_importance_sampling_mode": "vllm.correction",
    "reward_weights": "alpha",
    "use_liger_kernel": deferred("its loss bypasses the forward pass of this program, and with it the cut padding"),
    "cast_lm_head_to_fp32": deferred("sampling and training must give the same probabilities"),
    **dict.fromkeys(
        ("eval_strategy", "eval_steps", "eval_on_start", "per_device_eval_batch_size", "num_generations_eval"),
        "validation",
    ),
    **dict.fromkeys(
        (
            "generation_kwargs",
            "top_k",
            "min_p",
            "repetition_penalty",
            "cache_implementation",
            "vllm_structured_outputs_regex",
            "use_transformers_paged",
            "use_transformers_continuous_batching",
            "transformers_continuous_batching_config",
        ),
        deferred("rollouts are sampled with `temperature` and `top_p` alone, as the published ones"),
    ),
    **dict.fromkeys(("max_tool_calling_iterations", "chat_template_kwargs"), _TOOL),
    "pad_to_multiple_of": _RENDERER,
}

REFUSED: Mapping[Stage, Mapping[str, str]] = {"sft": {**_BOTH, **_SFT}, "grpo": {**_BOTH, **_GRPO}}
"""TRL's options that ``trl`` does not take: the setting to use instead, or a message with the reason."""


def refuse(stage: Stage, options: Mapping[str, object]) -> None:
    """:raises Mismatch: an option that this program controls; the message names the setting to use, or the reason"""
    for name in options:
        if (reason := REFUSED[stage].get(name)) is None:
            continue
        why = tr(reason) if isinstance(reason, Message) else tr("use the setting `{setting}` instead", setting=reason)
        raise Mismatch(
            tr("an option that this program sets itself"), tr("it to be left out: {why}", why=why), f"trl.{name}"
        )


def check(stage: Stage, options: Mapping[str, object], trackers: Sequence[Tracker]) -> None:
    """Check options and trackers against what is installed.

    :raises SettingsError: TRL has no such option (with the closest names), or a tracker's package is missing
    """
    for tracker in trackers:
        names = _PACKAGES[tracker]
        if not any(find_spec(name) for name in names):
            raise SettingsError(
                tr(
                    "report_to: found {tracker}, which is not installed: pip install {replace}, or leave it out "
                    "(--set report_to=[])",
                    tracker=tracker,
                    replace=names[0].replace("_", "-"),
                )
            )
    if not options:
        return
    known = [field.name for field in dataclasses.fields(_config_class(stage)) if field.init]
    for name in options:
        if name not in known:
            usable = [other for other in known if other not in REFUSED[stage]]
            near = difflib.get_close_matches(name, usable, 3, 0.5)
            hint = tr("one of {names}", names=", ".join(near)) if near else tr("an option of TRL")
            raise SettingsError(
                tr(
                    "trl.{name}: found an option that {name2} lacks, expected {hint}",
                    name=name,
                    name2=_config_class(stage).__name__,
                    hint=hint,
                )
            )


def configured(stage: Stage, ours: Mapping[str, Any], options: Mapping[str, Any], trackers: Sequence[Tracker]) -> Any:
    """Return TRL's arguments: ``ours``, the further ``options``, and the trackers.

    :raises SettingsError: as ``check``; or TRL refuses a value
    """
    check(stage, options, trackers)
    try:
        return _config_class(stage)(**ours, **options, report_to=list(trackers) or "none")
    except (TypeError, ValueError, ImportError) as error:
        if not options:
            raise
        names = ", ".join(options)
        raise SettingsError(
            tr(
                "trl: found {names} with a value that TRL refuses: {names2}",
                names=names,
                names2=" ".join(str(error).split()),
            )
        ) from error


def _config_class(stage: Stage) -> Any:
    import trl

    return trl.SFTConfig if stage == "sft" else trl.GRPOConfig
