"""Two sets of wordings of simulated traces, without a common sentence: to choose settings, and to report figures."""

from __future__ import annotations

from dataclasses import dataclass

Pool = tuple[str, ...]


@dataclass(frozen=True)
class Wordings:
    """Sentences by what they are for; those after ``others`` are of failures."""

    windows: Pool
    nexts: Pool
    yes: Pool
    no: Pool
    doubts_of_yes: Pool
    doubts_of_no: Pool
    emission: Pool
    absorption: Pool
    absent: Pool
    atmosphere: Pool
    frames: Pool
    refine: Pool
    others: Pool
    harmless_faults: Pool
    other_window: Pool
    ghost: Pool
    wrong_frame: Pool
    again: Pool
    called_emission: Pool
    as_star: Pool
    window_as_star: Pool
    atmosphere_labels: Pool
    faults: Pool
    cuts: Pool


CHOOSING = Wordings(
    windows=("In the window {lo} to {hi} Å", "Between {lo} and {hi} Å", "The region {lo}–{hi} Å shows this"),
    nexts=(
        "Next zoom: {what}, {lo} to {hi} Å.",
        "Now I check {what} in {lo}–{hi} Å.",
        "Then I look at {what} ({lo} to {hi} Å).",
    ),
    yes=(
        "All in all this is a {name}.",
        "The evidence is consistent with a {name}.",
        "I therefore classify it as {name}: YES.",
        "The features confirm {name}.",
        "So the object belongs to the class {name}.",
    ),
    no=(
        "All in all this is not a {name}.",
        "The evidence is not consistent with a {name}.",
        "I therefore do not classify it as {name}: NO.",
        "The features rule out {name}.",
        "So the object does not belong to the class {name}.",
    ),
    doubts_of_yes=(
        "One measurement speaks against {name}, but the others outweigh it.",
        "A different class cannot be excluded entirely.",
    ),
    doubts_of_no=(
        "One measurement would fit {name}, but it is weak.",
        "At first sight a {name} seemed possible.",
    ),
    emission=(
        "{line} is in emission.",
        "The emission of {line} is clear.",
        "I see {line} emission above the continuum.",
    ),
    absorption=("{line} is in absorption.", "The absorption of {line} is clear.", "I see {line} absorption here."),
    absent=("There is no {line}.", "{line} is absent.", "I find no {line} in emission or absorption."),
    atmosphere=(
        "The dip at {at} Å is the telluric band of O2 and is not used.",
        "Around {at} Å the atmosphere absorbs, so I ignore it.",
    ),
    frames=(
        "With z = {z} the windows are in the rest frame.",
        "Wavelengths are at rest; the redshift is {z}.",
    ),
    refine=(
        "I zoom in more closely on {lo} to {hi} Å.",
        "A closer look at {lo}–{hi} Å will help.",
    ),
    others=(
        "The noise is moderate here.",
        "The continuum is smooth.",
        "The join of the two arms does not matter for this.",
        "I look again at the whole picture before I decide.",
        "The flux calibration seems sound.",
    ),
    harmless_faults=("text outside the tags", "arguments given as text"),
    other_window=("The window {lo} to {hi} Å is what I see.", "This view covers {lo}–{hi} Å."),
    ghost=(
        "{line} is in strong emission.",
        "There is a clear emission line at {line}.",
        "{line} stands out.",
        "The absorption of {line} is deep and obvious.",
        "I see {line} absorption as well.",
        "{line} is detected.",
    ),
    wrong_frame=(
        "{line} lies at {at} Å here.",
        "The line at {at} Å is {line}.",
        "I find {line} at {at} Å as expected.",
        "The peak near {at} Å is {line} at rest.",
    ),
    again=(
        "I open {lo} to {hi} Å again.",
        "Once more the same region, {what}.",
        "I am not sure yet; I check {what} again.",
        "Let me zoom on {lo}–{hi} Å.",
    ),
    called_emission=(
        "{line} is in emission.",
        "There is clear {line} emission.",
        "The {line} emission is strong.",
        "{line} shows an emission peak.",
        "I see {line} emission above the continuum.",
    ),
    as_star=(
        "The absorption at {at} Å belongs to the star.",
        "The deep band at {at} Å is molecular and supports a cool photosphere.",
        "At {at} Å there is a strong feature that is typical of {name}.",
        "The star absorbs strongly at {at} Å.",
    ),
    window_as_star=(
        "The band in this window belongs to the star.",
        "This deep feature is typical of {name}.",
    ),
    atmosphere_labels=("molecular band", "red band head", "deep feature"),
    faults=(
        "<think> not closed",
        "no <answer> tags",
        "a tool call that cannot be read: '{\"name\": '",
        "4 damaged characters repaired",
        "broken JSON in a tool call: its window and label were read",
    ),
    cuts=("truncated: the limit of tokens was reached", "cut short while it was being written"),
)

REPORTING = Wordings(
    windows=(
        "Looking at {lo} to {hi} Å",
        "What {lo}–{hi} Å contains",
        "Zoomed view of {lo} to {hi} Å",
        "For the panel {lo} - {hi} Å",
    ),
    nexts=(
        "I will zoom into {what}, that is {lo} to {hi} Å.",
        "To test {what} I need {lo}–{hi} Å.",
        "After this comes {what}: {lo} to {hi} Å.",
        "Let me inspect {what} between {lo} and {hi} Å.",
    ),
    yes=(
        "Taken together, the measurements point to a {name}.",
        "My conclusion is that we have a {name} here.",
        "Every criterion of weight is met, hence a genuine {name}.",
        "The verdict has to be positive.",
        "This spectrum qualifies as {name}.",
        "I accept the hypothesis of a {name}.",
    ),
    no=(
        "Taken together, the measurements point to another kind of object than a {name}.",
        "My conclusion is that the target is something else than a {name}.",
        "The criteria of weight fail, hence no {name}.",
        "The verdict has to be negative.",
        "This spectrum does not qualify as {name}.",
        "I reject the hypothesis of a {name}.",
    ),
    doubts_of_yes=(
        "Some criteria fail, yet they carry little weight.",
        "I would reject it only if the blue end were more reliable.",
        "There is a hint of something else, which I consider minor.",
    ),
    doubts_of_no=(
        "Some criteria are met, yet they carry little weight.",
        "I would accept it only if the blue end were more reliable.",
        "There is a hint of the right features, which I consider minor.",
    ),
    emission=(
        "Emission is evident in {line}.",
        "{line} rises above its surroundings as an emission line.",
        "An emission feature marks {line}.",
        "At {line} the flux goes up: emission.",
    ),
    absorption=(
        "Absorption is evident in {line}.",
        "{line} falls below its surroundings as an absorption line.",
        "An absorption trough marks {line}.",
        "At {line} the flux goes down: absorption.",
    ),
    absent=(
        "Nothing is seen of {line}.",
        "{line} is missing from this spectrum.",
        "The spectrum lacks {line}.",
        "No trace of {line} was found.",
    ),
    atmosphere=(
        "What lies at {at} Å is atmospheric and tells nothing of the target.",
        "The terrestrial oxygen band near {at} Å has to be left out.",
        "Near {at} Å there is telluric absorption, as in every spectrum from the ground.",
    ),
    frames=(
        "Since z = {z}, I read all wavelengths at rest.",
        "The tool shifts to the rest frame by {z}.",
        "Observed wavelengths are longer by 1 + {z}.",
    ),
    refine=(
        "A narrower range, {lo} to {hi} Å, separates the details.",
        "I enlarge {lo}–{hi} Å.",
        "The part {lo} to {hi} Å deserves a view of its own.",
    ),
    others=(
        "Residuals of the sky subtraction are small.",
        "Signal is sufficient for the purpose.",
        "Nothing unusual happens at the edges.",
        "I would like to see the same window in a second exposure.",
        "The shape agrees with the overview.",
        "One more check will settle this.",
    ),
    harmless_faults=("words before the box", "2 tool calls in one turn: the first was taken"),
    other_window=(
        "Here I have the range of {lo} to {hi} Å in front of me.",
        "The zoomed picture runs from {lo} to {hi} Å.",
        "The requested region {lo}–{hi} Å is on display.",
    ),
    ghost=(
        "An emission line of {line} is present without doubt.",
        "The spectrum displays {line} in emission.",
        "{line} is prominent.",
        "Pronounced absorption marks {line}.",
        "We also have {line}, which is unmistakable.",
        "A trough at {line} reveals absorption.",
        "I recognise {line} too.",
    ),
    wrong_frame=(
        "At {at} Å sits {line}.",
        "{line} is centred on {at} Å.",
        "The wavelength of {line} in this picture, {at} Å, is the rest wavelength.",
        "I identify what peaks around {at} Å as {line}.",
        "For {line} I read {at} Å.",
    ),
    again=(
        "Another view of {what} is needed.",
        "I return to {lo} to {hi} Å.",
        "The picture was not conclusive, so {what} a further time.",
        "Zooming into {lo}–{hi} Å will settle it.",
        "I want to be certain about {what}.",
    ),
    called_emission=(
        "Emission is evident in {line}.",
        "{line} rises above its surroundings as an emission line.",
        "The spectrum displays {line} in emission.",
        "An emission feature marks {line}.",
        "{line} glows in emission, which points to hot gas.",
        "The profile of {line} is that of an emission line.",
    ),
    as_star=(
        "A pronounced trough around {at} Å originates in the photosphere.",
        "The object shows intrinsic absorption near {at} Å.",
        "Its dip at {at} Å is a hallmark of {name}.",
        "I attribute what is seen at {at} Å to molecules in the target.",
        "The feature about {at} Å tells us the temperature of the source.",
    ),
    window_as_star=(
        "The trough on display originates in the photosphere.",
        "Molecules in the target explain this dip.",
        "Such strong absorption tells us that the source is cool.",
    ),
    atmosphere_labels=("cool star feature", "broad trough", "photospheric band"),
    faults=(
        "<answer> not closed",
        "no \\boxed{} in the answer",
        "a tool call without arguments",
        "U+FFFD could not be repaired, in 'emi\\ufffd'",
        "</think> without <think>",
        "no <think> tags",
    ),
    cuts=("truncated: the server stopped", "cut after 20000 characters", "nothing was written"),
)
